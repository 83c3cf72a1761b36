/** Owns the main session's name: the one that events, summaries and heartbeats belong to. */

/** Reserved: no request may name it as its session key. */
export const mainSession = 'main'
