"""The OpenAPI document (3.1), made of the operations' declarations."""
