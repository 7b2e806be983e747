/// A failure that a test has chosen is kept by its code.
extension DiskFailure: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let code = try container.decode(String.self)
        guard let failure = Self.named(code) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "There is no failure \(code).")
        }
        self = failure
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }
}
