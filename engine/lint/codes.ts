/** Owns the codes of lint: what it looks for, in the words of its help. */

/** Codes are API; a mapping may carry one in a comment to be spared. */
export const lintCodes = {
  SHADOWED_MAPPING: 'a mapping that is never reached, because an earlier one matches whenever it does',
  DUPLICATE_MATCH: 'two mappings that match the same requests, so that the second is never reached',
  IMPOSSIBLE_MATCH: 'a match whose clauses contradict each other',
  POINTLESS_CONTINUE: '`continue: true` where no later mapping could match as well',
  PATH_CASE: 'endpoint names that differ in upper and lower case only',
  UNKNOWN_FIELD: 'a template, an expression or a pattern that names a field no sample has',
  MISSING_TESTS: 'a mapping that no test of its file expects',
  UNSAFE_CONTENT: '`allowUnsafeExternalContent`, which puts payload values into prompts without the boundary',
  PAYLOAD_CHANNEL: 'a reply whose channel or address the payload chooses',
  UNUSED_PERMISSION: '`allowPayloadRouting` without any placeholder in `to`, `channel` or `model`',
  UNUSED_ROUTE: '`deliver: false` beside a channel or an address',
  SHARED_SESSION: 'a session key without placeholders, which all senders of the mapping share',
} as const

export type LintCode = keyof typeof lintCodes
