// Slack's own library of incoming webhooks. The argument is the webhook's address.

const { IncomingWebhook } = require("@slack/webhook");

async function main() {
  const hook = new IncomingWebhook(process.argv[2], { username: "Node" });
  const answers = [
    await hook.send("from @slack/webhook"),
    await hook.send({
      blocks: [{ type: "section", text: { type: "mrkdwn", text: "a *block*" } }],
      attachments: [{ color: "good", title: "Build", fields: [{ title: "Passed", value: true, short: true }] }],
    }),
  ];
  if (answers.some((answer) => answer.text !== "ok")) throw new Error(JSON.stringify(answers));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
