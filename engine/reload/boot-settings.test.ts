import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Configuration } from '../config/configuration.ts'
import type { Settings } from '../config/settings.ts'
import { bootKeys, holdBootSettings } from './boot-settings.ts'

function settings(word: string): Settings {
  const gateway = {
    host: word,
    port: word.length,
    token: word,
    trustedProxies: [word],
    dataDir: word,
    store: word,
    log: { level: 'info', format: word },
    limits: { backlog: word.length },
  }
  const history = { bodies: 'failed', keepMs: word.length }
  const agents = { defaults: { runner: word, concurrency: word.length }, runners: {} }
  return { gateway, history, agents } as unknown as Settings
}

function configuration(word: string): Configuration {
  return { settings: settings(word) } as unknown as Configuration
}

test('boot-only keys keep their live values and are named, and all others get the new ones', () => {
  const held = holdBootSettings(configuration('later'), settings('now'))
  assert.deepEqual(held.heldKeys, bootKeys)
  const [now, later] = [settings('now'), settings('later')]
  const { host, port, dataDir, store } = now.gateway
  const { gateway, ...others } = held.configuration.settings
  assert.deepEqual(gateway, { ...later.gateway, host, port, dataDir, store })
  assert.deepEqual(others, { history: later.history, agents: later.agents })
})

test('a configuration with unchanged boot-only keys is passed on unchanged', () => {
  const loaded = configuration('now')
  assert.deepEqual(holdBootSettings(loaded, settings('now')), { configuration: loaded, heldKeys: [] })
  assert.deepEqual(holdBootSettings(loaded, undefined), { configuration: loaded, heldKeys: [] })
})
