// Browsers give no passkeys to IP addresses. An instance on this machine is therefore used under its name, whichever way
// somebody came; the fragment goes along, and sessions lie in one place. The page that is left does nothing more.

const LOOPBACK = ["127.0.0.1", "[::1]"];

if (document.body.dataset.relyingParty === "localhost" && LOOPBACK.includes(location.hostname)) {
  const named = new URL(location.href);
  named.hostname = "localhost";
  location.replace(named);
  await new Promise(() => {});
}
