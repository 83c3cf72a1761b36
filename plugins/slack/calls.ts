/** Owns what calls people in Slack, and how it is kept from it. */

/** Nobody sees it, and no line breaks there. U+2060 WORD JOINER. */
const joiner = '\u2060'

/**
 * `<!channel>`, `<@U0123>`, `<!subteam^S0123>`, `<!date^…>`, which hides a link, and `<#C0123>`, which shows a name; and
 * `@channel`, which some settings take without brackets, and of which the rest may follow in bold. Other brackets stay as
 * they are: `<!DOCTYPE html>`.
 */
const calls =
  /<(?=!(?:channel|here|everyone|group|subteam\^|date\^)|@[UWB][A-Z0-9]|#[CGD][A-Z0-9])|(?<![\p{L}\p{N}_])@(?=(?:channel|here|everyone|group)(?![\p{L}\p{N}_])|\p{L}*$)/giu

/** Reads the same, and calls nobody, whatever decodes it. */
export function withoutCalls(text: string): string {
  return text.replaceAll(calls, (found) => `${found}${joiner}`)
}
