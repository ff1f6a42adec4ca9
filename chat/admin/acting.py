"""Who acts in an administrative request."""

from __future__ import annotations

from chat.api.operation import Request
from chat.domain.administration.admin_audit_log import Acting


def acting(request: Request) -> Acting:
    """The administrator behind the request, with the reason that its header gives."""
    return Acting(request.principal, request.audit_log_reason)
