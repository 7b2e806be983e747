extension JSONValue {
    /// JSON Merge Patch (RFC 7396 section 2).
    /// - Parameter keeping: members that `null` sets to null instead of removing them.
    func mergePatched(with patch: JSONValue, keeping kept: [String] = []) -> JSONValue {
        guard let patchObject = patch.object else { return patch }
        var result = object ?? JSONObject()
        for member in patchObject.members {
            if member.value == .null {
                result[member.name] = kept.contains(member.name) ? .null : nil
            } else {
                result[member.name] = (result[member.name] ?? .null).mergePatched(with: member.value)
            }
        }
        return .object(result)
    }
}
