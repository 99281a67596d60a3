"""Splits of rows by their domains, for the model selection of scikit-learn."""
import numpy as np
from sklearn.model_selection import BaseCrossValidator

from . import _frames, _input


class LeaveOneDomainOut(BaseCrossValidator):
    """Each source domain in turn is held out; rows of targets are in every training part and never scored.

    Parameters
    ----------
    domain : str or None
        The column of a data frame that names the domains. Otherwise they are given as `groups` or `sample_domain`.
    target : str, int, list or None
        Names of targets; numbers below 0 always are.

    Examples
    --------
    >>> import ecotone
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y, domain = ecotone.generate("clinics", size=0.1)
    >>> len(cross_val_score(ecotone.Pipeline("impute | scale | logistic"), X, y, groups=domain, cv=ecotone.LeaveOneDomainOut()))
    8
    """

    __metadata_request__split = {"groups": True, "sample_domain": True}

    def __init__(self, domain=None, target=None):
        self.domain = domain
        self.target = target

    def split(self, X, y=None, groups=None, sample_domain=None):
        """Row numbers to train on and to score, once per source domain in order of first appearance."""
        domains = self._domains(X, groups, sample_domain)
        source = domains.source()
        for code in self._held_out(domains):
            out = domains.codes == code
            yield np.flatnonzero(~out), np.flatnonzero(out & source)

    def get_n_splits(self, X=None, y=None, groups=None, sample_domain=None):
        """The number of source domains."""
        return len(self._held_out(self._domains(X, groups, sample_domain)))

    def _domains(self, X, groups, sample_domain):
        if sample_domain is None:
            sample_domain = groups
        if sample_domain is None and self.domain is not None and X is not None:
            sample_domain = _frames.values_of(X, self.domain)
        if sample_domain is None:
            raise ValueError("LeaveOneDomainOut: no domains; pass groups or sample_domain, or name their column")
        return _input.Domains(sample_domain, self.target)

    def _held_out(self, domains):
        codes = domains.codes[domains.source()]
        _, first = np.unique(codes, return_index=True)
        if len(first) < 2:
            raise ValueError(f"LeaveOneDomainOut: at least two source domains are needed, got {len(first)}")
        return codes[np.sort(first)]


def leave_one_domain_out(domain, target=None):
    """Name, training rows and held-out rows of every source domain in turn.

    >>> import ecotone
    >>> for name, train, held_out in ecotone.leave_one_domain_out(["a", "b", "a"]):
    ...     print(name, train, held_out)
    a [1] [0 2]
    b [0 2] [1]
    """
    domains = _input.Domains(domain, target)
    for train, held_out in LeaveOneDomainOut(target=target).split(None, groups=domain):
        yield domains.names[domains.codes[held_out[0]]], train, held_out
