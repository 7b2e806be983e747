/// The members of a JSON object in their order in the text.
struct JSONObject: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        var name: String
        var value: JSONValue
    }

    var members: [Member] = []

    /// The last member of that name wins, as with `JSON.parse`. Setting keeps the place of a member; nil removes it.
    subscript(name: String) -> JSONValue? {
        get { members.last { $0.name == name }?.value }
        set {
            guard let newValue else { return members.removeAll { $0.name == name } }
            if let index = members.lastIndex(where: { $0.name == name }) {
                members[index].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }
}
