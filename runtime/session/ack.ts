/** Owns the acknowledgement: how an agent says that it has nothing to say. */

/** What a model may wrap around the token: emphasis, quotes, full stops, a tick. */
const decoration = /^[\s\p{P}\p{S}\p{M}\p{Cf}]*$/u
const tag = /<\/?[a-z][^<>]*>/giu

/** A longer text is a reply that mentions the token. Characters, beside the token itself. */
const longestDecoration = 200

/** True when the reply is the token alone, whatever markup, punctuation and white space surround it. */
export function isAckOnly(reply: string, token: string): boolean {
  const text = reply.trim()
  if (token === '' || text.length > token.length + longestDecoration) return false
  const bare = text.replace(tag, '')
  const start = bare.indexOf(token)
  if (start < 0) return false
  return decoration.test(bare.slice(0, start)) && decoration.test(bare.slice(start + token.length))
}
