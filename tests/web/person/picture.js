// What the page shows, as data: compared with what a fresh page shows and with what the API says.

(() => {
  const { __person: person } = window;
  if (person.picture) return;
  const words = (element) => (element?.textContent ?? "").replaceAll(/\s+/g, " ").trim();

  const without = (element, selector) => person.textWithout(element, selector).replaceAll(/\s+/g, " ").trim();

  function row(article) {
    const reactions = [...article.querySelectorAll("button.reaction:not(.add)")].map((one) => {
      const emoji = one.querySelector("img")?.alt ?? without(one, ".count");
      return [words(one.querySelector(".count") ?? one), emoji, one.ariaPressed].join(" ");
    });
    return {
      text: without(article, "time, .gutter, .head, .reactions, .thread-link, .reply, .fate"),
      reactions,
      author: words(article.querySelector(".author")),
      colour: article.querySelector(".author")?.style.getPropertyValue("--role") ?? "",
      reply: words(article.querySelector(".reply")),
      thread: words(article.querySelector(".thread-link")),
      first: article.classList.contains("first"),
      mentions: article.classList.contains("mentions-me"),
    };
  }

  function member(item) {
    const name = item.querySelector("[data-role]");
    const dot = item.querySelector(".presence")?.className ?? "";
    return [words(item), name?.style.getPropertyValue("--role") ?? "", dot, item.ariaSetSize].join(" | ");
  }

  /** The friends page: which part is open, who is in it, how many requests wait. */
  function friends() {
    const page = document.querySelector("#talk.friends");
    const rows = [...(page?.querySelectorAll(".friends-list > li.friend") ?? [])];
    return page
      ? {
          tab: page.querySelector("[role=tab][aria-selected=true]")?.dataset.tab ?? "",
          tabs: words(page.querySelector("[role=tablist]")),
          mine: words(page.querySelector("#friend-mine")),
          ids: rows.map((one) => one.querySelector("[data-user]").dataset.user).sort(),
          rows: rows.map((one) => [words(one), one.querySelector(".presence")?.className].join(" | ")).sort(),
        }
      : null;
  }

  const SAID = "time, .save-bar, [role=status], [role=alert], .field-error, .errors, select, .counter, datalist, " +
    "details > :not(summary)"; // whether it is open nobody else has to know
  const UNSAVED = "[type=checkbox], [type=radio], select";

  /** A page of settings; null while something in it waits to be saved, or only a part of it has an address. */
  function settings() {
    const content = document.querySelector(".settings-content");
    const bar = content?.querySelector(".save-bar");
    if (!content?.checkVisibility() || bar?.checkVisibility() || !document.querySelector(".settings-page")) return null;
    if (/settings\/(roles|channels)/.test(location.pathname))
      return { lines: [...(content.querySelector("ul")?.children ?? [])].map(words), values: [] };
    // Without a bar that saves, what stands in a field of text was sent nowhere.
    const fields = content.querySelectorAll(bar ? "input:not([type=file], [type=search]), textarea, select" : UNSAVED);
    return {
      lines: [person.textWithout(content, SAID).replaceAll(/\s+/g, " ").trim()],
      values: [...fields].filter((one) => !one.closest("details")).map((one) => {
        const isBox = /checkbox|radio/.test(one.type);
        return `${person.nameOf(one)}: ${isBox ? one.checked : one.value}`;
      }),
    };
  }

  person.picture = () => JSON.stringify(pictured());

  const isOwn = (article) => article.querySelector(".only-you") !== null;

  function pictured() {
    // Rows of the list alone: what is found or pinned shows some of them once more.
    // What only this person sees is in no history.
    const listed = document.querySelectorAll("#talk .messages .rows > .slot > article.row[data-id]:not([data-id=''])");
    const articles = [...listed].filter((one) => !isOwn(one));
    const members = document.querySelector(".members");
    const shown = members?.checkVisibility() ? [...members.querySelectorAll("[aria-posinset]")] : [];
    return {
      path: location.pathname,
      rail: [...document.querySelectorAll(".rail a.tile, .rail button.tile")].map((one) => one.ariaLabel ?? ""),
      closed: [...document.querySelectorAll(".rail [data-folder][aria-expanded=false]")].map((one) => one.dataset.folder),
      side: [...document.querySelectorAll(".side ul.channels > li")].map((one) => {
        const link = one.querySelector("a, button");
        const states = ["unread", "muted-channel"].filter((name) => link?.classList.contains(name));
        const dot = one.querySelector(".presence, .dot, [class*=presence]")?.className ?? "";
        return [words(link), ...states, link?.ariaCurrent ?? "", dot].join(" | ");
      }),
      head: words(document.querySelector("#talk h1")),
      topic: words(document.querySelector("#talk .topic")),
      panel: words(document.querySelector(".panel .panel-words")),
      members: Object.fromEntries(shown.map((one) => [one.ariaPosInSet, member(one)])),
      ids: articles.map((one) => one.dataset.id),
      parted: [...listed].filter((one, at) => at > 0 && isOwn(listed[at - 1])).map((one) => one.dataset.id),
      rows: Object.fromEntries(articles.map((one) => [one.dataset.id, row(one)])),
      waiting: document.querySelectorAll("article.row.sending").length,
      failed: document.querySelectorAll("article.row.failed").length,
      title: document.title,
      isBeside: document.querySelector(".talk.beside") !== null,
      isCovered: document.querySelector(".settings-page") !== null,
      friends: friends(),
      settings: settings(),
    };
  }
})();
