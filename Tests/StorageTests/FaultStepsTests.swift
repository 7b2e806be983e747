import TestKit
import Testing

@Suite struct FaultStepsTests {
    @Test("A sample has the first system call of each fault, each other one with one fault, and is not all of them")
    func sample() {
        let faults = FaultScope.Fault.all
        let samples = faults.map { Array(FaultSteps($0, areAll: false)) }
        #expect(samples.allSatisfy { $0.first == 1 })
        #expect(samples.flatMap { $0.dropFirst() }.sorted() == Array(2..<500))
        #expect(faults.allSatisfy { Array(FaultSteps($0, areAll: true)) == Array(1..<500) })
    }
}
