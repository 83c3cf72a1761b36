/** Owns whom a message calls. */

const marked = /<(!(?:channel|here|everyone|group|subteam\^\w+)|@[UWB][A-Z0-9]+)(?:\|[^<>]*)?>/g
const plain = /(?<![\p{L}\p{N}_])@(?:channel|here|everyone|group)(?![\p{L}\p{N}_])/gu

/**
 * Slack does not say at which of its passes it looks for calls. So they are looked for in what was sent and in what is
 * left when the markup is gone, in code as elsewhere; words without brackets count too, though most settings leave them.
 */
export function pingsOf(sent: string, shown: string): string[] {
  const found = [sent, shown].flatMap((text) => [...text.matchAll(marked), ...text.matchAll(plain)])
  return found.map(([call]) => call)
}
