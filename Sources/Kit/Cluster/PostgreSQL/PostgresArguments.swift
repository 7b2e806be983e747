/// The parameters of a statement, as libpq takes them: all bytes in one block.
struct PostgresArguments {
    /// The numbers of their types.
    let types: [UInt32]
    private var bytes: [UInt8] = []
    /// Where each begins; nil for NULL.
    private var places: [Int?] = []
    private var lengths: [Int32] = []

    /// Encodes parameters.
    ///
    /// - Throws: ``SharedStoreError/textNotStorable``.
    init(_ parameters: [any SQLParameter]) throws {
        types = parameters.map { type(of: $0).typeNumber }
        for parameter in parameters {
            let encoded = try parameter.encoded()
            places.append(encoded.map { _ in bytes.count })
            lengths.append(Int32(encoded?.count ?? 0))
            bytes += encoded ?? []
        }
        // An empty block has no address, which would mean NULL.
        bytes.append(0)
    }

    /// Runs `body` with pointers to the values, their lengths, and their formats: 1, binary, for each.
    func withPointers<Value>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Value
    ) -> Value {
        bytes.withUnsafeBytes { block in
            let start = block.assumingMemoryBound(to: CChar.self).baseAddress
            let values = places.map { place in place.flatMap { start?.advanced(by: $0) } }
            return body(values, lengths, Array(repeating: 1, count: lengths.count))
        }
    }
}
