/** Lists comparisons of values that are named like secrets but are harmless, each with the reason. */

export interface Harmless {
  readonly file: string
  /** The comparison as `findCompares` writes it. */
  readonly text: string
  readonly why: string
}

const ofContent = 'names what a configuration, a file or a bundle holds, and is shown by the API'
const ofWords = "compares digests of the gateway's own replies, which their readers know anyway"
const ofGrammar = 'a word of a grammar'
const ofLease = 'names a lease of this node'

export const harmless: readonly Harmless[] = [
  ...of('engine/verify/compare.ts', 'the one place that compares secrets', [
    'timingSafeEqual(secret, digest)',
    "timingSafeEqual( Buffer.from(hash('sha256', given, 'binary'), 'latin1'), Buffer.from(hash('sha256', right, 'binary'), 'latin1'), )",
  ]),
  ...of('engine/config/rules/token-rules.ts', 'two configured secrets, compared when they are loaded', [
    'keys.get(token)',
  ]),
  ...of('engine/config/rules/policy-rules.ts', 'two configured secrets, compared when they are loaded', [
    'openers.get(secret)',
    'each.token === secret',
  ]),
  ...of('engine/config/values/secret.ts', 'asks the name of a key', ['secretWords.test(name)']),
  ...of(
    'runtime/plugin/configuration/create-compiler.ts',
    'asks for the placeholders of a configuration, which are no secrets',
    ['noSecrets.has(value)'],
  ),
  ...of(
    'engine/resolve/explain/redact.ts',
    'finds the secrets that the request itself holds, to hide them in its own trace',
    ['text[end] === secret[end - start]'],
  ),
  ...of('plugins/msteams/token.ts', 'two tokens that the plugin was given by its vendor', [
    'current?.token === token',
  ]),
  ...of('plugins/msteams/channel.ts', 'asks for a token, and compares none', ['tokens.get(signal)']),
  ...of('plugins/gmail/watch/consent.ts', 'hashes of what is stored here, by which a change is seen', [
    'digestOf(found) !== mark',
    'digestOf(consentOf(found)) !== digestOf(consentOf(credentials))',
  ]),
  ...of('plugins/gmail/google/calls.ts', 'two tokens that the plugin was given by its vendor', [
    'latestToken !== otherToken',
  ]),
  ...of('plugins/gmail/google/gmail.ts', 'two places in a list, which its vendor calls tokens', [
    'page.nextPageToken !== asked',
  ]),
  ...of('plugins/gmail/google/token-answer.ts', 'asks which characters a token consists of', [
    'tokenForm.test(value)',
  ]),
  ...of('plugins/gmail/google/tokens.ts', 'two tokens that the plugin was given by its vendor', [
    'refreshToken === written.refreshToken',
    'current.refreshToken !== written.refreshToken',
    'accessToken === refused',
  ]),
  ...of('plugins/gmail/connect/consent.ts', 'two files of the operator', [
    'client.secret !== stored.clientSecret',
  ]),
  ...of('runtime/http/auth/presented-token.ts', 'asks the name of a header', ['tokenHeaders.includes(name)']),
  ...of('engine/config/rules/token-rules.ts', 'asks whether a configured secret has blanks around it', [
    'secret.trim() !== secret',
  ]),
  ...of('engine/providers/secrets.ts', 'asks how a configured secret is written, when it is loaded', [
    "text.startsWith(whsec) === (scheme.secrets === 'whsec')",
  ]),
  ...of('engine/verify/families/hmac.ts', 'asks how long the signature of the sender is', [
    'bytes?.length === digestLengths[hash]',
  ]),
  ...of('engine/compile/expression/fault.ts', ofGrammar, [
    'source.lastIndexOf(token, position - token.length)',
  ]),
  ...of('plugins/command/output/fields.ts', ofGrammar, ['Object.hasOwn(value, token)']),
  ...of('runtime/session/ack.ts', 'the word by which a model says that there is nothing to say', [
    'reply.includes(token)',
    'text.indexOf(token)',
  ]),

  ...of('engine/reload/changes.ts', ofContent, ['one.digest === other.digest']),
  ...of('engine/reload/generation.ts', ofContent, ['last.digest === next.digest']),
  ...of('engine/reload/candidate.ts', ofContent, ['digest === live?.snapshot.digest']),
  ...of('engine/reload/memory-archive.ts', ofContent, ['content.digest === digest']),
  ...of('engine/reload/reloader.ts', ofContent, [
    'digest === rollback?.filesDigest',
    'this.#filesDigest === rollback.filesDigest',
    'filesDigest !== digest',
  ]),
  ...of('engine/transform/bundle/bundler.ts', ofContent, ['digests.has(digest)']),
  ...of('runtime/generations/state.ts', ofContent, ['record.digest === digest']),
  ...of('runtime/generations/archive.ts', ofContent, ['record.digest === digest']),
  ...of('runtime/api/requests.ts', ofContent, [
    'digest?.startsWith(named)',
    'digest?.startsWith(generationDigest)',
  ]),
  ...of('runtime/reload/start.ts', ofContent, ['rollback?.filesDigest === filesDigest']),
  ...of('runtime/cli/doctor/checks/gateway.ts', ofContent, ['live.digest === compiled.configuration.digest']),
  ...of('runtime/cli/authoring/testing/watch.ts', ofContent, ['next.digest === last.digest']),
  ...of('runtime/guard/sent-messages.ts', ofWords, ['sent.get(digest)', 'sent.has(digestOf(fold(node)))']),
  ...of('runtime/store/queue/claims.ts', ofLease, [
    'names.includes(leaseName(token))',
    'cancelled.has(leaseName(token))',
  ]),
  ...of('runtime/store/queue/tasks.ts', ofLease, ['leased.get(leaseName(token))']),
  ...of('engine/compile/template/rendering.ts', ofGrammar, ['token === resultFollows']),
  ...of('runtime/store/requests.ts', 'names a body, whose sender has it', ['digest !== bodyDigest']),
  ...of('runtime/reload/start.ts', ofContent, ['loaded.configuration.digest === digest']),
  ...of('engine/reload/reloader.ts', ofContent, [
    'this.#resting?.digest === digest',
    'this.#resting?.digest !== digest',
  ]),
  ...of('engine/reload/unfinished.ts', 'two configured secrets, compared when they are loaded', [
    'after.secrets.includes(secret)',
  ]),
  ...of('engine/compile/expression/date-pattern.ts', ofGrammar, [
    "pattern.replaceAll('Z', '').search(dateTokens)",
    'meant.search(dateTokens)',
  ]),
]

function of(file: string, why: string, texts: readonly string[]): Harmless[] {
  return texts.map((text) => ({ file, text, why }))
}
