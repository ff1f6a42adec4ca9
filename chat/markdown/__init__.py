"""Messages as the web client shows them: what in a text is code, a mention, an address. `chat/web/client/text` reads
the same, so that nobody is called whom the message does not show.
"""
