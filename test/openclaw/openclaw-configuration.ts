/** Makes configurations in the style of OpenClaw's documentation, with its `hooks` block unchanged. */

import { gatewayToken, hookToken, rehearsalPlugin } from '../installation.ts'

/** The hooks block in YAML, with the channels and models of the documentation. */
export const yamlHooks = `hooks:
  enabled: true
  token: ${hookToken}
  path: /hooks
  maxBodyBytes: 262144
  transformsDir: ./transforms
  mappings:
    - match: { path: gmail }
      action: agent
      wakeMode: now
      name: Gmail
      sessionKey: "hook:gmail:{{messages[0].id}}"
      messageTemplate: "New email from {{messages[0].from}}\\nSubject: {{messages[0].subject}}\\n{{messages[0].snippet}}\\n{{messages[0].body}}"
      model: openai/gpt-5.2-mini
      thinking: low
      timeoutSeconds: 120
      deliver: true
      channel: last
      to: "+15551234567"
    - id: door
      match: { path: ingest, source: door }
      action: wake
      wakeMode: next-heartbeat
      textTemplate: "{{who}} rang on floor {{query.floor}} at {{now}} ({{path}}, {{headers.x-door}}, {{ missing }})"
    - id: camera
      match: { path: ingest, source: camera }
      messageTemplate: "Look at {{frames[1].url}} and {{payload.frames[0].size}}"
      deliver: false
      wakeMode: next-heartbeat
      allowUnsafeExternalContent: true
    - id: rest
      action: agent
      name: "Hook {{path}}"
      deliver: false
      wakeMode: next-heartbeat
      messageTemplate: "{{path}} sent {{payload}}"
`

/** The sections that a hooks block does not cover. */
const around = {
  gateway: { port: 0, auth: { token: gatewayToken } },
  plugins: [rehearsalPlugin],
  channels: { board: { folder: '{folder}' } },
  agents: { route: { channel: 'board', to: 'team' } },
}

export function inYaml(hooks: string): string {
  const rest = Object.entries(around).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  return hooks + rest.join('')
}

/** `hooks` is the beginning of an object, without its last brace. */
export function inJson(hooks: string): string {
  return hooks + JSON.stringify(around).slice(1)
}
