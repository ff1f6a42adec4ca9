"""Moving in: readers that turn exports of other services into the intermediate form, which the writer takes
(`chat.domain.imports`), and the form itself as lines of JSON.

Everything in here is a stream from files to records. It knows no database, and changes nothing.
"""
