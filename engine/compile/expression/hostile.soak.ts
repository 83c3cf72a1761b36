import { testHostile } from './hostile.ts'

testHostile(1_048_576, 50)
