/** Owns whom a message calls. */

const marked = /<(!(?:channel|here|everyone|group|subteam\^\w+)|@[UWB][A-Z0-9]+)(?:\|[^<>]*)?>/g
/** Behind a slash it is a part of an address. */
const plain = /(?<![\p{L}\p{N}_/])@(?:channel|here|everyone|group)(?![\p{L}\p{N}_])/gu

/**
 * Slack does not say at which of its passes it looks for brackets. So they are looked for in what was sent and in what is
 * left when the markup is gone, in code as elsewhere; words without brackets count too, though most settings leave them.
 */
export function pingsOf(sent: string, shown: string): string[] {
  const found = [...sent.matchAll(marked), ...shown.matchAll(marked), ...shown.matchAll(plain)]
  return found.map(([call]) => call)
}
