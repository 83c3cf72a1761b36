import { testNullField } from './null-field.ts'

testNullField(60, 1)
