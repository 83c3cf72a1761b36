/** The key of the main session, to which events, summaries and heartbeats belong. No request may use it as its session key. */
export const mainSession = 'main'
