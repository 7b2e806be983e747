import Foundation

/// The system calls of a write that are tried with a fault, counted from 1.
///
/// Usually these are a sample, the same in each run: the first call fails with every fault, each other one with one
/// fault or, at long intervals, with none. With `FAULT_POINTS=all` in the environment, by `script/check-faults`,
/// each call fails with every fault.
package struct FaultSteps: Sequence, Sendable {
    /// The most steps that are tried: a write has fewer.
    private static let limit = 500
    /// Whether every step is tried, which takes longer.
    package static let areAll = ProcessInfo.processInfo.environment["FAULT_POINTS"] == "all"

    private let first: Int
    private let interval: Int

    /// Selects the steps for one fault.
    ///
    /// - Parameters:
    ///   - fault: Its place among `FaultScope.Fault.all` determines where the sample begins.
    ///   - interval: The distance between two calls of the sample.
    ///   - areAll: Whether every step is selected.
    package init(_ fault: FaultScope.Fault, every interval: Int = 3, areAll: Bool = Self.areAll) {
        let faults = FaultScope.Fault.all.map(\.description)
        let place = faults.firstIndex(of: fault.description) ?? 0
        first = 2 + (areAll ? 0 : place * interval / faults.count)
        self.interval = areAll ? 1 : interval
    }

    package func makeIterator() -> some IteratorProtocol<Int> {
        ([1] + stride(from: first, to: Self.limit, by: interval)).makeIterator()
    }
}
