import { vendorConformance } from '@reveille/kit/conformance'
import { openVendor, visibleText } from './stand-in/index.ts'

vendorConformance({
  name: 'the WhatsApp channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  places: [
    ['+16505551234', '16505551234', ' +16505551234 '],
    ['+16505559876'],
    ['group:Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD'],
  ],
  badAddresses: ['Ada', '+0123456789', '123', '+1 650 555 1234', 'group:', 'group:a b', '+1234567890123456'],
  fences: false,
})
