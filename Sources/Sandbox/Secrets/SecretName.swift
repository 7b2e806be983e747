/// The names of secrets, however they are spelled: `accessToken`, `access_token` and `Access-Token` are one name.
enum SecretName {
    /// The place of a name. Some names are those of secrets in one place only.
    enum Place: Sendable {
        /// A member of JSON, an element or an attribute.
        case member
        /// A field of a form, or of a text.
        case form
        /// A parameter of a URL.
        case query
        case field
    }

    /// How much of a value is secret.
    enum Extent: Sendable {
        case nothing
        /// The value, if it is a text.
        case text
        /// All texts, also those in arrays and objects.
        case texts
        /// All texts and numbers, because most PINs are numbers.
        case numbers

        /// The extent for the values of an object.
        var inObject: Extent { self == .texts || self == .numbers ? .texts : .nothing }
        /// The extent for the values of an array.
        var inArray: Extent { self == .text ? .nothing : self }
    }

    /// The ends of names whose values may be numbers.
    private static let numeric = ["password", "passwd", "passcode", "passphrase", "pwd", "otp", "secret", "token"]

    /// The ends of names.
    private static let ends = [
        "tokens", "secrets", "passwords", "apikey", "apikeys", "accesskey", "secretkey", "privatekey", "signingkey",
        "encryptionkey", "masterkey", "sharedkey", "subscriptionkey", "accountkey", "authkey", "spacexkey", "jwt",
        "bearer", "credential", "credentials", "authorization", "cookie", "cookies", "sessionid", "sessionkey", "csrf",
        "xsrf", "clientassertion", "codeverifier", "devicecode", "usercode", "authcode", "authorizationcode",
        "recoverycode", "recoverycodes", "backupcodes",
    ]

    /// The last words of names. They are compared as whole words, because other words end with the same letters.
    private static let words: [String: Extent] = [
        "pin": .numbers, "auth": .texts, "cred": .texts, "creds": .texts, "tkn": .texts, "pass": .text, "sid": .text,
    ]

    /// Whole names.
    private static let forms: Set = ["code", "session"]
    private static let parameters: Set = [
        "code", "session", "key", "sign", "signature", "sig", "hmac", "policy", "keypairid", "awsaccesskeyid",
        "xamzsignature", "xgoogsignature",
    ]

    /// Last words that tell nothing about the kind of a value.
    private static let neutral: Set = [
        "value", "text", "plain", "raw", "hash", "string", "header", "new", "old", "current", "confirm", "confirmation",
        "repeat", "again", "hex", "base", "sha", "encoded", "encrypted",
    ]

    /// Tokens that are positions in a list.
    private static let places = ["pagetoken", "nexttoken", "continuationtoken", "synctoken", "cursortoken"]

    /// Whether the values of a header field are always hidden.
    ///
    /// - Parameter name: In lower case.
    static func hides(field name: String) -> Bool {
        ["authorization", "proxy-authorization", "cookie", "set-cookie"].contains(name)
            || extent(of: name, in: .field) != .nothing
    }

    /// Returns how much of the value of a name is secret.
    static func extent(of name: some StringProtocol, in place: Place) -> Extent {
        guard (2...80).contains(name.utf8.count) else { return .nothing }
        var words = words(of: name)
        while words.count > 1, let last = words.last, neutral.contains(last) { words.removeLast() }
        let folded = words.joined()
        if let last = words.last, let extent = Self.words[last] { return extent }
        if places.contains(where: folded.hasSuffix) { return .nothing }
        if numeric.contains(where: folded.hasSuffix) { return .numbers }
        if ends.contains(where: folded.hasSuffix) { return .texts }
        let isWhole =
            switch place {
            case .member: folded == "session"
            case .form: forms.contains(folded)
            case .query: parameters.contains(folded)
            case .field: false
            }
        return isWhole ? .text : .nothing
    }

    /// The words of a name in lower case, without numbers at their ends.
    private static func words(of name: some StringProtocol) -> [String] {
        var words: [[UInt8]] = [[]]
        var last: UInt8 = 0
        let bytes = Array(name.utf8)
        for (index, byte) in bytes.enumerated() {
            let isUpper = byte.isUpper
            guard isUpper || byte.isLower || byte.isDigit else {
                words.append([])
                last = 0
                continue
            }
            let endsCapitals = last.isUpper && index + 1 < bytes.count && bytes[index + 1].isLower
            if isUpper, last.isLower || last.isDigit || endsCapitals { words.append([]) }
            words[words.count - 1].append(isUpper ? byte | 0x20 : byte)
            last = byte
        }
        return words.compactMap { word in
            let letters = word.last?.isDigit == true ? word[...(word.lastIndex { !$0.isDigit } ?? 0)] : word[...]
            return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self)
        }
    }

    /// Whether a segment of a path is a signature: long, made of the letters of Base64, and neither a word nor a file
    /// name.
    static func isSignature(segment: String) -> Bool {
        guard segment.utf8.count >= 32, segment.contains(where: \.isNumber), segment.contains(where: \.isLetter) else {
            return false
        }
        let marks = Set("+/=_-.:%~".utf8)
        guard segment.utf8.allSatisfy({ $0.isDigit || $0.isUpper || $0.isLower || marks.contains($0) }) else {
            return false
        }
        guard let dot = segment.lastIndex(of: ".") else { return true }
        let ending = segment[segment.index(after: dot)...]
        return !(2...5).contains(ending.count) || !(ending.first?.isLetter ?? false)
    }
}

extension UInt8 {
    var isUpper: Bool { (0x41...0x5A).contains(self) }
    var isLower: Bool { (0x61...0x7A).contains(self) }
    var isDigit: Bool { (0x30...0x39).contains(self) }
    /// Space, tab and line breaks.
    var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
