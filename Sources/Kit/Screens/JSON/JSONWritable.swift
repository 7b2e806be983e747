/// A value that writes its JSON without a tree of it: what screens have that are often made.
///
/// The members are those of its `Encodable` form, and the bytes are the same (`JSONWritableTests`).
package protocol JSONWritable: Encodable {
    /// Writes the value. The members of an object are in the order of their names in the output.
    ///
    /// - Throws: `EncodingError`.
    func write(to json: inout JSONWriter) throws
}

extension JSONWriter {
    /// Writes a value of any type: directly if it can, else through `WireEncoder`.
    ///
    /// - Throws: `EncodingError`.
    package mutating func encode(_ value: some Encodable) throws {
        if let direct = value as? any JSONWritable {
            try direct.write(to: &self)
        } else {
            try WireEncoder.wrap(value, WireEncoder.Lookups()).write(to: &self)
        }
    }
}
