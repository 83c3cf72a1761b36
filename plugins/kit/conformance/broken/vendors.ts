/** Channels that each break one promise about their vendor, under the name of the test that has to notice. suites.test.ts runs them. */

import { describe } from 'node:test'
import { arrivalTests } from '../arrival.ts'
import { configurationTests } from '../configuration.ts'
import { connectionTests } from '../connections.ts'
import { vendorConformance } from '../index.ts'
import { refusalTests } from '../refusals.ts'
import { secrecyTests } from '../secrecy.ts'
import { fetchInMemory } from './in-memory.ts'
import { openPager, visibleText } from './pager/fake-server.ts'
import { spoilersOf } from './pager/spoilers.ts'

globalThis.fetch = fetchInMemory

const pager = new URL('./pager/index.ts', import.meta.url)
const misaddressed = new URL('./pager-misaddressed/index.ts', import.meta.url)
const undescribed = new URL('./pager-undescribed/index.ts', import.meta.url)
/** The test that needs a vendor which remembers keys. */
const ofMemory = 'delivers one message when a send that the vendor reported as failed is retried'

const files = {
  arrival: arrivalTests,
  refusals: refusalTests,
  connections: connectionTests,
  secrecy: secrecyTests,
  configuration: configurationTests,
}

good('a good vendor', { remembers: true })
good('a good vendor without a memory', {})
for (const [file, ask] of Object.entries(files)) {
  for (const breaks of Object.keys(spoilersOf[file as keyof typeof files])) {
    const options = optionsFor({ breaks, ...(breaks === ofMemory && { remembers: true }) }, pager)
    describe(breaks, () => ask(options))
  }
}
describe('accepts as `baseUrl` the address of a service, without a name or a password', () =>
  configurationTests(optionsFor({}, misaddressed)))
describe('describes its configuration in a schema', () => configurationTests(optionsFor({}, undescribed)))

type PagerOptions = Parameters<typeof openPager>[0]

function good(name: string, config: PagerOptions): void {
  vendorConformance({ name, ...optionsFor(config, pager) })
}

function optionsFor(config: PagerOptions, plugin: URL) {
  return {
    plugin,
    open: async () => openPager(config),
    visibleText,
    places: [['#ops', ' #OPS '], ['#dev']],
    badAddresses: ['ops', '#'],
    fences: false,
  }
}
