"""What is wrong with a page, as far as its HTML alone can say: every page that a test opens is read with this."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

from core.i18n import LANGUAGES

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
# Elements whose end HTML lets one leave out; our pages write them all the same.
LABELLED = {"input", "select", "textarea"}
WITHOUT_LABEL = {"hidden", "submit", "button", "image", "reset"}
LOADING = {"script": "src", "img": "src", "iframe": "src", "source": "src", "form": "action", "use": "href"}
REFERRING = ("for", "aria-labelledby", "aria-describedby", "aria-controls", "aria-errormessage", "list", "form")


class Element:
    """One element with its attributes, and the text below it."""

    def __init__(self, tag: str, attributes: dict[str, str], line: int, parent: Element | None) -> None:
        self.tag, self.attributes, self.line, self.parent = tag, attributes, line, parent
        self.text = ""

    def __str__(self) -> str:
        named = next((f"#{self.attributes[key]}" for key in ("id", "name", "href") if key in self.attributes), "")
        return f"<{self.tag}{named}> in line {self.line}"

    def inside(self, tag: str) -> bool:
        above = self.parent
        while above is not None and above.tag != tag:
            above = above.parent
        return above is not None


class Page(HTMLParser):
    """The elements of a page, in their order; `broken` says where tags do not close as they opened."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.broken: list[str] = []
        self.doctype = ""
        self._open: list[Element] = []
        self.feed(html)
        self.close()
        self.broken += [f"{element} is never closed" for element in self._open]

    def handle_decl(self, decl: str) -> None:
        self.doctype = decl

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        parent = self._open[-1] if self._open else None
        names = [name for name, _ in attrs]
        element = Element(tag, {name: value or "" for name, value in attrs}, self.getpos()[0], parent)
        self.broken += [f"{element} has {name} twice" for name, times in Counter(names).items() if times > 1]
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1].tag == tag:
            self._open.pop()
        else:
            opened = self._open[-1] if self._open else "nothing"
            self.broken.append(f"</{tag}> in line {self.getpos()[0]} closes {opened}")
            while self._open and any(element.tag == tag for element in self._open):
                if self._open.pop().tag == tag:
                    break

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data

    def all(self, *tags: str) -> list[Element]:
        return [element for element in self.elements if element.tag in tags]


def problems(html: str, language: str = "en") -> list[str]:
    """What is wrong with a whole page."""
    page = Page(html)
    return [*_document(page, language), *_parts(page)]


def problems_of_fragment(html: str) -> list[str]:
    """What is wrong with a part of a page."""
    return _parts(Page(html))


def _parts(page: Page) -> list[str]:
    return [
        *page.broken, *_content_policy(page), *_outside(page), *_ids(page), *_labels(page), *_links_and_buttons(page),
        *_tables_and_images(page), *_forms(page), *_cut(page),
    ]  # fmt: skip


def _document(page: Page, language: str) -> list[str]:
    found = []
    if page.doctype.lower() != "doctype html":
        found.append("there is no doctype")
    roots = page.all("html")
    if [root.attributes.get("lang") for root in roots] != [language] or language not in LANGUAGES:
        found.append(f"<html lang> is not {language}")
    for tag in ("h1", "title", "main"):
        there = [element for element in page.all(tag) if not element.inside("svg")]
        if len(there) != 1:
            found.append(f"there are {len(there)} <{tag}>")
        found += [f"{element} is empty" for element in there if not element.text.strip()]
    return found + _headings(page)


def _headings(page: Page) -> list[str]:
    """A heading stands at most one level below the one before it. Dialogs and templates are places of their own."""
    found, level = [], 0
    for heading in page.all("h1", "h2", "h3", "h4", "h5", "h6"):
        if heading.inside("dialog") or heading.inside("template"):
            continue
        here = int(heading.tag[1])
        if here > level + 1:
            found.append(f"{heading} follows a heading of level {level}")
        level = here
    return found


def _content_policy(page: Page) -> list[str]:
    """Nothing that the content policy would refuse."""
    found = []
    for element in page.elements:
        if element.tag == "style" or (element.tag == "script" and "src" not in element.attributes):
            found.append(f"{element} is written into the page")
        found += [f"{element} has {name}" for name in element.attributes if name.startswith("on") or name == "style"]
        found += [
            f"{element} runs a script by {name}"
            for name, value in element.attributes.items()
            if value.strip().lower().startswith("javascript:") or name.startswith("hx-on")
        ]
    return found


def _outside(page: Page) -> list[str]:
    """Nothing is loaded from, or sent to, anywhere else."""
    loaded = [(element, element.attributes.get(LOADING[element.tag], "")) for element in page.all(*LOADING)]
    loaded += [(link, link.attributes.get("href", "")) for link in page.all("link")]
    loaded += [(element, value) for element in page.elements for value in _htmx_addresses(element)]
    return [f"{element} leads to {url}" for element, url in loaded if "//" in url]


def _htmx_addresses(element: Element) -> list[str]:
    verbs = ("hx-get", "hx-post", "hx-put", "hx-patch", "hx-delete", "srcset")
    return [element.attributes[name] for name in verbs if name in element.attributes]


def _ids(page: Page) -> list[str]:
    counted = Counter(element.attributes["id"] for element in page.elements if "id" in element.attributes)
    found = [f"the id {name!r} stands {times} times" for name, times in counted.items() if times > 1]
    found += ["an id is empty"] if "" in counted else []
    for element in page.elements:
        for attribute in REFERRING:
            for name in element.attributes.get(attribute, "").split():
                if name not in counted:
                    found.append(f"{element} refers by {attribute} to #{name}, which is not there")
    return found


def _labels(page: Page) -> list[str]:
    named = {label.attributes.get("for") for label in page.all("label")}
    return [
        f"{element} has no label"
        for element in page.all(*LABELLED)
        if element.attributes.get("type", "text") not in WITHOUT_LABEL
        and element.attributes.get("id") not in named
        and not element.inside("label")
        and element.attributes.get("aria-hidden") != "true"  # a name beside a new password, for the browser's store
        and not {"aria-label", "aria-labelledby"} & set(element.attributes)
    ]


def _links_and_buttons(page: Page) -> list[str]:
    found = []
    for element in page.all("a", "button", "summary"):
        if not (
            element.text.strip() or element.attributes.get("aria-label", "").strip() or _has_picture(page, element)
        ):
            found.append(f"{element} says nothing")
        if element.tag == "a" and element.attributes.get("href", "").strip() in ("", "#"):
            found.append(f"{element} leads nowhere")
        if element.inside("a") or element.inside("button"):
            found.append(f"{element} stands inside another")
    return found


def _has_picture(page: Page, element: Element) -> bool:
    return any(image.parent is element and image.attributes.get("alt") for image in page.all("img"))


def _tables_and_images(page: Page) -> list[str]:
    found = [f"{image} has no alt" for image in page.all("img") if "alt" not in image.attributes]
    headers = [cell for cell in page.all("th") if cell.attributes.get("scope") not in ("col", "row", "colgroup")]
    found += [f"{cell} has no scope" for cell in headers]
    tabbed = [element for element in page.elements if element.attributes.get("tabindex", "0") not in ("0", "-1")]
    return found + [f"{element} takes a place of its own in the tab order" for element in tabbed]


def _forms(page: Page) -> list[str]:
    """A form that writes carries the CSRF token; a file goes as multipart."""
    found = []
    for form in page.all("form"):
        fields = [element for element in page.elements if _form_of(element) is form]
        method = form.attributes.get("method", "get").lower()
        if method == "post" and not any(field.attributes.get("name") == "csrf_token" for field in fields):
            found.append(f"{form} has no CSRF token")
        if method == "get" and any(field.attributes.get("name") == "csrf_token" for field in fields):
            found.append(f"{form} puts the CSRF token into the address")
        has_file = any(field.attributes.get("type") == "file" for field in fields)
        if has_file and form.attributes.get("enctype") != "multipart/form-data":
            found.append(f"{form} cannot send its file")
        if form.inside("form"):
            found.append(f"{form} stands inside another")
    return found


def _cut(page: Page) -> list[str]:
    """A browser cuts what is pasted at the maxlength and says nothing; the server's sentence does."""
    return [f"{element} cuts what is pasted" for element in page.elements if "maxlength" in element.attributes]


def _form_of(element: Element) -> Element | None:
    above = element.parent
    while above is not None and above.tag != "form":
        above = above.parent
    return above
