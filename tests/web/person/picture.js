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

  person.picture = () => JSON.stringify(pictured());

  function pictured() {
    const articles = [...document.querySelectorAll("#talk article.row[data-id]:not([data-id=''])")];
    const members = document.querySelector(".members");
    const shown = members?.checkVisibility() ? [...members.querySelectorAll("[aria-posinset]")] : [];
    return {
      path: location.pathname,
      rail: [...document.querySelectorAll(".rail a.tile, .rail button.tile")].map((one) => one.ariaLabel ?? ""),
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
      rows: Object.fromEntries(articles.map((one) => [one.dataset.id, row(one)])),
      waiting: document.querySelectorAll("article.row.sending").length,
      failed: document.querySelectorAll("article.row.failed").length,
      title: document.title,
    };
  }
})();
