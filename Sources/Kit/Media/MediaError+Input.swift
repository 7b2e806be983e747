extension MediaError {
    /// An error of one of several inputs.
    package struct OfInput: Error, Sendable, Equatable {
        /// The position of the input, from 0.
        package let index: Int
        /// What is wrong with it.
        package let error: MediaError

        /// Creates the error of one input.
        package init(index: Int, error: MediaError) {
            self.index = index
            self.error = error
        }
    }

    /// Whether an input is at fault. Otherwise it is the machine, or the load.
    var isOfInput: Bool {
        switch self {
        case .toolMissing, .overloaded, .failed, .unavailable, .storageFull: false
        default: true
        }
    }
}

extension MediaError.OfInput {
    /// Runs a part of a job on some of its inputs, and makes its errors name the position in the whole job.
    ///
    /// - Parameters:
    ///   - first: position of the part's first input in the job.
    ///   - count: inputs of the part; an error that names none is that of the only one.
    /// - Throws: ``MediaError/OfInput``, ``MediaError``, and what else `body` throws.
    package static func naming<Value>(
        _ first: Int,
        of count: Int = 1,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do { return try await body() } catch { throw named(error, first, of: count) }
    }

    /// The same for a part that does not wait.
    static func naming<Value>(_ first: Int, of count: Int = 1, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch { throw named(error, first, of: count) }
    }

    private static func named(_ error: any Error, _ first: Int, of count: Int) -> any Error {
        switch error {
        case let error as MediaError.OfInput: MediaError.OfInput(index: first + error.index, error: error.error)
        case let error as MediaError where count == 1 && error.isOfInput:
            MediaError.OfInput(index: first, error: error)
        default: error
        }
    }
}
