import { testNullField } from './null-field.ts'

testNullField(200, 8)
