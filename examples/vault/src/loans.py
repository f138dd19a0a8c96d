"""Loan periods, renewals and overdue fees."""

from dataclasses import dataclass, replace
from datetime import date, timedelta

LOAN_DAYS = 14
RENEWAL_DAYS = 7
MAX_RENEWALS = 2
MAX_OPEN_LOANS = 5

GRACE_DAYS = 2
FEE_PER_DAY_YEN = 20
FEE_CAP_YEN = 1_000
BLOCKING_DEBT_YEN = 500


class LoanError(Exception):
    """A lending rule refused the request; the message is the API's error code."""


@dataclass(frozen=True, slots=True)
class Loan:
    """One copy in one member's hands."""

    member_id: str
    isbn: str
    due: date
    renewals: int = 0


def check_out(
    member_id: str, isbn: str, today: date, *, open_loans: int, debt_yen: int
) -> Loan:
    """Lend a copy for LOAN_DAYS, unless the member holds or owes too much."""
    if open_loans >= MAX_OPEN_LOANS:
        raise LoanError("too_many_loans")
    if debt_yen >= BLOCKING_DEBT_YEN:
        raise LoanError("unpaid_fees")
    return Loan(member_id, isbn, today + timedelta(days=LOAN_DAYS))


def renew(loan: Loan, today: date, *, hold_waiting: bool) -> Loan:
    """Move the due date RENEWAL_DAYS later, counted from the old due date."""
    if today > loan.due:
        raise LoanError("overdue")
    if hold_waiting:
        raise LoanError("hold_waiting")
    if loan.renewals >= MAX_RENEWALS:
        raise LoanError("renewal_limit")
    later = loan.due + timedelta(days=RENEWAL_DAYS)
    return replace(loan, due=later, renewals=loan.renewals + 1)


def overdue_fee(loan: Loan, returned: date) -> int:
    """Return the fee in yen: nothing within the grace days, never above the cap."""
    charged_days = (returned - loan.due).days - GRACE_DAYS
    return min(max(charged_days, 0) * FEE_PER_DAY_YEN, FEE_CAP_YEN)
