/** Channels that each break one promise about their vendor, under the name of the test that has to notice. suites.test.ts runs them. */

import { describe } from 'node:test'
import { configurationTests } from '../configuration.ts'
import { runVendorTests, vendorConformance, vendorTests } from '../vendor.ts'
import { openPager, visibleText } from './pager/fake-server.ts'
import { spoilersOf } from './pager/spoilers.ts'

const pager = new URL('./pager/index.ts', import.meta.url)
const misaddressed = new URL('./pager-misaddressed/index.ts', import.meta.url)
const undescribed = new URL('./pager-undescribed/index.ts', import.meta.url)
/** The test that needs a vendor which remembers keys. */
const ofMemory = 'delivers one message when a send that the vendor reported as failed is retried'

good('a good vendor', { remembers: true })
good('a good vendor without a memory', {})
for (const [subject, tests] of Object.entries(vendorTests)) {
  for (const breaks of Object.keys(spoilersOf[subject as keyof typeof vendorTests])) {
    const options = optionsFor({ breaks, ...(breaks === ofMemory && { remembers: true }) }, pager)
    describe(breaks, () => runVendorTests(tests, options))
  }
}
describe('accepts the address of a service, without a name or a password', () =>
  runVendorTests(configurationTests, optionsFor({}, misaddressed)))
describe('describes its configuration in a schema', () =>
  runVendorTests(configurationTests, optionsFor({}, undescribed)))

type PagerOptions = Parameters<typeof openPager>[0]

function good(name: string, config: PagerOptions): void {
  vendorConformance({ name, ...optionsFor(config, pager) })
}

function optionsFor(config: PagerOptions, plugin: URL) {
  return {
    plugin,
    open: () => openPager(config),
    visibleText,
    places: [['#ops', ' #OPS '], ['#dev']],
    badAddresses: ['ops', '#'],
    fences: false,
  }
}
