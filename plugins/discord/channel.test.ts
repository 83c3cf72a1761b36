import { vendorConformance } from '@reveille/kit/conformance'
import { openVendor, visibleText } from './stand-in/index.ts'

vendorConformance({
  name: 'the Discord channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    ['channel:1400000000000000001', '1400000000000000001', ' channel:1400000000000000001 '],
    ['channel:1400000000000000002'],
    ['user:1500000000000000001'],
  ],
  badAddresses: [
    '#general',
    'general',
    'channel:',
    'user:ada',
    'thread:1',
    '<#1400000000000000001>',
    '012',
    'channel:123456789012345678901',
  ],
})
