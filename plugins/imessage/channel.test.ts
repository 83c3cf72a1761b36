import { vendorConformance } from '@reveille/kit/conformance'
import { openVendor, visibleText } from './fake-server/index.ts'

vendorConformance({
  name: 'the imessage channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  fences: false,
  places: [
    ['+15550100001', 'auto:+15550100001', ' +15550100001 '],
    ['imessage:+15550100001', 'iMessage:+15550100001'],
    ['sms:+15550100001'],
    ['ada@example.org', 'imessage:Ada@Example.org'],
    ['chat_guid:iMessage;+;chat100200300'],
    ['chat_identifier:chat100200300'],
  ],
  badAddresses: [
    ...['chat_id:12', '15550100001', '+1 555 010 0001'],
    ...['sms:ada@example.org', 'chat_guid:chat1', '@ada', 'ada'],
  ],
})
