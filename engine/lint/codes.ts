/** Owns the codes of lint. They are API: a comment in a mapping file may name one. */

/** `UNSAFE_CONTENT` is what compiling warns of, which lint tells as well. */
export type LintCode =
  | 'SHADOWED_MAPPING'
  | 'DUPLICATE_MATCH'
  | 'IMPOSSIBLE_MATCH'
  | 'POINTLESS_CONTINUE'
  | 'PATH_CASE'
  | 'UNKNOWN_FIELD'
  | 'UNMET_CLAUSE'
  | 'CONDITION_VALUE'
  | 'LITERAL_REFERENCE'
  | 'LITERAL_TEXT'
  | 'LITERAL_KEY'
  | 'MISSING_TESTS'
  | 'UNSAFE_CONTENT'
  | 'PAYLOAD_CHANNEL'
  | 'UNUSED_PERMISSION'
  | 'UNUSED_ROUTE'
  | 'SHARED_SESSION'
  | 'SHARED_DEDUPE_KEY'
  | 'UNUSED_ELEMENT'
