/** Sets up a gateway whose configuration has a canary in every place that can hold a secret. */

import type { TestContext } from 'node:test'
import { type Files, type Installation, install, rehearsalPlugin, until } from '../../installation.ts'
import { credentials, echoed, heads, configured as secret } from './canaries.ts'
import { payload } from './requests.ts'

export const publicUrl = `https://hooks.example.com/hooks/twilio?key=${secret['public-url-query']}`

const configuration = `gateway: { port: 0, auth: { token: "\${GATEWAY_TOKEN}", tokens: [{ name: reader, token: "\${READER_TOKEN}", may: read }] }, metrics: { token: "\${METRICS_TOKEN}" }, log: { level: trace, format: json } }
hooks:
  enabled: true
  token: ["\${HOOK_TOKEN}", ${secret['old-hook-token']}]
  maxBodyBytes: 100000
  maxActions: 5
  maxRenderedBytes: 3000
  bodyTimeout: 100ms
  allowedSessionKeyPrefixes: ["hook:"]
  endpoints:
    own: { token: "\${ENDPOINT_TOKEN}" }
    rated: { rate: { client: 1/1m } }
    open: { auth: none }
    github: { verify: { provider: github, secret: "\${file:{folder}/github-secret}" } }
    stripe: { verify: { provider: stripe, secret: ["\${STRIPE_SECRET}"] } }
    gitlab: { verify: { provider: gitlab, secret: "\${GITLAB_TOKEN}" } }
    meta: { verify: { provider: meta, secret: "\${META_SECRET}", verifyToken: "\${META_VERIFY}" } }
    twilio: { verify: { provider: twilio, secret: "\${TWILIO_SECRET}", publicUrl: "${publicUrl}" } }
    custom: { verify: { provider: hmac, secret: "\${HMAC_SECRET}", hmac: { header: x-custom-signature } } }
history: { bodies: all }
plugins: ["${rehearsalPlugin}"]
channels: { terminal: {}, board: { folder: "{folder}", apiKey: "\${CHANNEL_KEY}" } }
agents:
  defaults: { models: [openai/gpt-5] }
  providers: { openai: { apiKey: "\${PROVIDER_KEY}" }, anthropic: { apiKey: "\${ECHOED_KEY}" } }
  route: { channel: board, to: team }
  runners: { blabbing: { kind: blabbing, folder: "{folder}", apiKey: ${secret['runner-key']} } }
`

const environment = `GATEWAY_TOKEN=${secret['gateway-token']}
READER_TOKEN=${secret['reader-token']}
METRICS_TOKEN=${secret['metrics-token']}
HOOK_TOKEN=${secret['hook-token']}
ENDPOINT_TOKEN=${secret['endpoint-token']}
STRIPE_SECRET=${secret['stripe-secret']}
GITLAB_TOKEN=${secret['gitlab-token']}
META_SECRET=${secret['meta-secret']}
META_VERIFY=${secret['meta-verify-token']}
TWILIO_SECRET=${secret['twilio-secret']}
HMAC_SECRET=${secret['hmac-secret']}
CHANNEL_KEY='${secret['channel-key']}'
PROVIDER_KEY=${secret['provider-key']}
ECHOED_KEY=${echoed['echoed-key']}
UNUSED=${secret['unused-variable']}
`

const mapping = (id: string, fields: string) => `  - { id: ${id}, match: { path: ${id} }, ${fields} }\n`
const mappings = `mappings:
${['own', 'open', 'github', 'stripe', 'gitlab', 'meta', 'twilio', 'custom', 'rated']
  .map((id) => mapping(id, 'action: wake, mode: next-heartbeat, text: "It says {{text}}"'))
  .join('')}\
${mapping('plain', 'message: "Read {{text}} of {{number}}", wakeMode: now')}\
${mapping('wake-up', 'action: wake, text: "{{text}}", mode: now')}\
${mapping('blabbing', 'message: "Read {{text}}", runner: blabbing, wakeMode: now')}\
${mapping('nobody', 'message: "Read {{number}}", to: nobody, wakeMode: now')}\
${mapping('once', 'dedupe: { key: "text" }, action: wake, mode: next-heartbeat, text: "{{text}}"')}\
${mapping('picky', 'action: wake, text: "x"').replace('path: picky', 'path: picky, body: { text: { prefix: other } }, when: "$number(text) > 1"')}\
${mapping('expression', 'message: "{% $number(text) %}"')}\
${mapping('absent', 'strict: true, message: "{{nothing}}"')}\
${mapping('session', 'message: x, sessionKey: "hook:{{nothing}}"')}\
${mapping('schema', 'message: x, schema: { properties: { text: { type: number } } }')}\
${mapping('typed', 'message: x, timeoutSeconds: "{{text}}"')}\
${mapping('modelled', 'message: x, allowPayloadRouting: true, model: "{{text}}"')}\
${mapping('channelled', 'message: x, allowPayloadRouting: true, channel: "{{text}}"')}\
${mapping('none', 'forEach: "[]", message: x')}\
${mapping('many', 'forEach: "[1..9]", message: "{{text}}"')}\
${mapping('large', 'message: "{{#each list}}{{@root.text}}{{/each}}"')}\
${mapping('transformed', 'transform: { module: failing.mjs }')}\
${mapping('declined', 'transform: { module: refusing.mjs }')}\
`

/** A test beside the mappings is a sample of the console, and may hold a secret. */
const tests = `tests:
  - { name: a sample, request: { endpoint: plain, headers: { x-note: ${secret['runner-key']} }, body: { text: x, number: 1, deep: ${secret['runner-key']} } }, expect: { mapping: plain } }
`

/** An author's output and errors are shown to the operator. The cause of an error is not shown. */
const failing = `export default ({ payload }) => {
  throw new Error('it cannot be read', { cause: new TypeError(payload.text) })
}
`

const refusing = `import { refuse } from '@reveille/engine/transform'
export default () => {
  throw refuse(422, 'it has no order')
}
`

export const files: Files = {
  'reveille.yaml': configuration,
  '.env': environment,
  'github-secret': `${secret['github-secret']}\n`,
  'unread-target': secret['file-target'],
  'mappings/all.yaml': mappings + tests,
  'transforms/failing.mjs': failing,
  'transforms/refusing.mjs': refusing,
  'payload.json': payload,
  'request.http': `POST /hooks/github?note=${heads['query-note']} HTTP/1.1
Host: x
Cookie: session=${credentials.cookie}
Authorization: Bearer ${credentials['wrong-token']}
X-Custom: ${heads.header}
X-Hub-Signature-256: sha256=${heads.signature}

${payload}`,
}

export function installCanaries(t: TestContext): Promise<Installation> {
  return install(t, files, { tunnel: { port: 0 } })
}

/** Waits until every run and delivery has ended. Runs of a runner that is held stay as they are. */
export function untilQuiet({ ask }: Installation): Promise<true> {
  const headers = { authorization: `Bearer ${secret['gateway-token']}` }
  return until(async () => {
    const open = ['runs?state=queued', 'runs?state=running', 'deliveries?state=pending']
    const pages = await Promise.all(open.map((path) => ask(`/api/${path}`, { headers })))
    return pages.every(({ body }) => (body['items'] as unknown[]).length === 0) || undefined
  }, 'every run and delivery to end')
}
