import { testSlips } from './fixture.ts'
import { slipsOfPatterns } from './patterns.ts'

testSlips([...slipsOfPatterns])
