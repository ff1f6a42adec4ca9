"""Registration, sign-in, second factors, email addresses and recovery."""
