import { testSaving } from './saving.ts'

testSaving(1, {
  mappings: [
    'emptied, then in parts',
    'line by line',
    'renamed away, then written',
    'vim with backupcopy=yes',
    'vim with backupcopy=no',
  ],
  configuration: ['in parts', 'sed -i'],
  transform: ['line by line'],
  schema: ['in parts'],
})
