public import HTTPTypes

extension HTTPFields {
    /// Removes all lines of these fields.
    public mutating func removeAll(named names: Set<HTTPField.Name>) {
        removeAll { names.contains($0.name) }
    }
}
