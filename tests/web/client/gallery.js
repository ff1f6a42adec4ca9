// Everything that the base style sheets give to views, on one page: `show(icons)` builds it in the document.
(icons) => {
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const icon = (name) => {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "icon");
    svg.setAttribute("aria-hidden", "true");
    const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
    use.setAttribute("href", `${document.body.dataset.client}/icons.svg#${name}`);
    svg.append(use);
    return svg;
  };
  const field = (id, label, input, hint) =>
    make("div", { class: "field" }, make("label", { for: id }, label), make("p", { class: "hint" }, hint), input);
  const button = (name, kind, more = {}) => make("button", { type: "button", class: `button ${kind}`, ...more }, name);
  const item = (name, more = {}) => make("button", { type: "button", role: "menuitem", ...more }, icon("edit"), name);
  document.title = "Gallery";
  const main = make(
    "main",
    { class: "gallery" },
    make("h1", {}, "Gallery"),
    make("p", {}, "Text with a ", make("a", { href: "#here" }, "link"), ", ", make("code", {}, "code"), ", ", make("kbd", {}, "Ctrl K"), "."),
    make("p", { class: "muted" }, "Muted ", make("span", { class: "meta" }, "meta"), " ", make("span", { class: "badge" }, "12")),
    make("div", { class: "buttons" }, button("Plain", ""), button("Primary", "primary"), button("Delete", "danger"), button("As a link", "plain"), button("Busy", "primary", { "aria-busy": "true" })),
    make("div", { class: "buttons" }, ...icons.map((name) => make("button", { type: "button", class: "icon-button", "aria-label": name }, icon(name)))),
    make(
      "form",
      { class: "card" },
      make("h2", {}, "Fields"),
      field("name", "Name", make("input", { class: "input", id: "name", placeholder: "Ana" }), "What others see."),
      field("wrong", "Wrong", make("input", { class: "input", id: "wrong", "aria-invalid": "true", value: "x" }), "Has an error."),
      make("p", { class: "field-error" }, "Use at least 2 characters."),
      field("about", "About", make("textarea", { class: "input", id: "about" }), "A few lines."),
      field("one", "One of", make("select", { class: "select", id: "one" }, make("option", {}, "First")), "Choose."),
      make("label", { class: "check" }, make("input", { type: "checkbox", checked: "" }), "Checked"),
      make("div", { class: "errors" }, "That did not work: ", make("a", { href: "#name" }, "Name")),
      make("p", { class: "note" }, "A note, with a ", make("a", { href: "#note" }, "link"), "."),
      make("p", { class: "skeleton", "aria-hidden": "true" }, "waiting"),
    ),
    make(
      "div",
      { class: "menu", role: "menu", "aria-label": "Menu" },
      item("Edit"),
      item("Reply"),
      make("div", { role: "separator" }),
      item("Delete", { class: "danger" }),
    ),
  );
  const dialog = make(
    "dialog",
    { "aria-labelledby": "asks" },
    make("h2", { id: "asks" }, "Delete this message?"),
    make("p", {}, "It is gone for everybody."),
    make("div", { class: "buttons" }, button("Cancel", ""), button("Delete", "danger")),
  );
  document.body.replaceChildren(main, dialog);
}
