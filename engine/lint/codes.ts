/** The codes of lint with what each says of a mapping. They are API: a comment in a mapping file may name one. */

export const lintCodes = {
  SHADOWED_MAPPING: 'is never reached: an earlier one matches whenever it does',
  DUPLICATE_MATCH: 'is never reached: an earlier one has the same match',
  UNKNOWN_FIELD: 'names a field that no sample of its endpoint has',
  LIST_FIELD: 'reads a field of a list in a template, which renders as nothing',
  OTHER_PAYLOAD: 'reads the whole body, and that has a key called payload',
  CONDITION_VALUE: 'is a condition that gives something else than true or false',
  LITERAL_REFERENCE: 'holds `${NAME}`, which is plain text in a mapping',
  LITERAL_TEXT: 'has a text that was hardly meant as one',
  LITERAL_KEY: 'names a key that was hardly meant as one',
  MISSING_TESTS: 'is expected by no test of its file',
  /** From compiling. */
  UNSAFE_CONTENT: 'puts payload values into the prompt without the boundary',
  SHARED_SESSION: 'has one session for all its requests',
  SHARED_DEDUPE_KEY: 'has one dedupe key for all elements of its forEach',
  DEAD_COALESCE: 'has its coalesce key as its dedupe key, so that nothing is coalesced',
  UNUSED_ELEMENT: 'has a forEach, and names nothing of its elements',
  UNFILTERED_ELEMENTS: 'matches by one element of a list, and acts on all of them',
}
