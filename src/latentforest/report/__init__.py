"""Reports: a page that shows a model, made from plain data (``content``) by templates (``page``).

The package itself can be called: ``latentforest.report(model, data, "report.html")`` is
`latentforest.report.document.report`, also after a module of the package was imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from latentforest.lazy import import_lazily

if TYPE_CHECKING:
    from latentforest.report.document import Report


_HOME = "latentforest.report.document"
__getattr__, __dir__, __all__ = import_lazily(__name__, {"Report": _HOME, "report": _HOME})


class _CallablePackage(ModuleType):
    """Python puts a package where a function of its name would be, so this one is both."""

    def __call__(self, *arguments: Any, **options: Any) -> Report:
        from latentforest.report.document import report

        return report(*arguments, **options)


sys.modules[__name__].__class__ = _CallablePackage
