"""Reports: a page that shows a model, made from plain data (``content``) by templates (``page``).

The package itself can be called: ``latentforest.report(model, data, "report.html")`` is
`latentforest.report.document.report`, also after a module of the package was imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latentforest.report.document import Report


class _CallablePackage(ModuleType):
    """Python puts a package where a function of its name would be, so this one is both."""

    def __call__(self, *arguments: Any, **options: Any) -> Report:
        from latentforest.report.document import report

        return report(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
