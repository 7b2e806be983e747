package import HTTPTypes

/// The directives of a `Cache-Control` field, as written: unknown ones and repetitions included. RFC 9111 §5.2.
package struct CacheControl: Sendable, Equatable {
    package struct Directive: Sendable, Equatable {
        /// Its name in lower case: names are case-insensitive (RFC 9111 §5.2).
        package var name: String
        /// The text after the `=`.
        var argument: Argument

        package init(name: String, argument: Argument = .none) {
            self.name = name
            self.argument = argument
        }
    }

    package enum Argument: Sendable, Equatable {
        case none
        /// A token, or the content of a quoted string. Recipients accept both forms (RFC 9111 §5.2).
        case value(String)
        /// A text that the syntax does not allow, such as whitespace beside the `=`.
        case invalid
    }

    package var directives: [Directive]

    init(directives: [Directive] = []) {
        self.directives = directives
    }

    package init(lines: [String]) {
        directives = lines.flatMap { FieldList.members(of: $0).compactMap(Self.directive) }
    }

    /// Reads a field of a message, all its lines.
    package init(_ fields: HTTPFields, field: HTTPField.Name = .cacheControl) {
        self.init(lines: fields[values: field])
    }

    /// Returns whether a directive is present, with any argument.
    package func contains(_ name: String) -> Bool {
        directives.contains { $0.name == name }
    }

    /// Returns the seconds that a directive gives; nil if it is absent.
    ///
    /// RFC 9111 §4.2.1 permits a cache to use the first of several values or to consider the response stale; different
    /// values are invalid here.
    package func deltaSeconds(_ name: String) -> DeltaSeconds? {
        var result: DeltaSeconds?
        for directive in directives where directive.name == name {
            let value: DeltaSeconds =
                if case .value(let text) = directive.argument { DeltaSeconds(text) } else { .invalid }
            if let earlier = result, earlier != value { return .invalid }
            result = value
        }
        return result
    }

    /// Reads a directive. Its name is the run of token characters at the start; text after it that is not an argument
    /// makes the argument invalid, so that `private; max-age=60` still says `private`.
    private static func directive(_ member: Substring) -> Directive? {
        let name = member.utf8.prefix(while: ASCIISet.token.contains)
        guard !name.isEmpty else { return nil }
        return Directive(name: Substring(name).lowercased(), argument: argument(member[name.endIndex...]))
    }

    private static func argument(_ rest: Substring) -> Argument {
        guard !rest.isEmpty else { return .none }
        guard rest.utf8.first == UInt8(ascii: "=") else { return .invalid }
        let value = rest.dropFirst()
        if let text = FieldList.unquoted(value) { return .value(text) }
        guard !value.isEmpty, value.utf8.allSatisfy(ASCIISet.token.contains) else { return .invalid }
        return .value(String(value))
    }
}

/// The cache directives of a request. RFC 9111 §5.2.1, RFC 5861 §4.
package struct RequestDirectives: Sendable, Equatable {
    /// How stale a response the client accepts. RFC 9111 §5.2.1.2.
    package enum MaxStale: Sendable, Equatable {
        /// Any staleness.
        case unlimited
        case seconds(Int)
    }

    /// Do not respond from the cache without validation. RFC 9111 §5.2.1.4, or `Pragma: no-cache` without
    /// `Cache-Control` (§5.4).
    package var noCache: Bool
    /// Do not store the response. RFC 9111 §5.2.1.5.
    package var noStore: Bool
    /// Respond from the cache only. RFC 9111 §5.2.1.7.
    package var onlyIfCached: Bool
    /// The age up to which the client accepts a response, in seconds; an invalid one counts as 0. RFC 9111 §5.2.1.1.
    package var maxAge: Int?
    /// How long the response must stay fresh from now on, in seconds; an invalid one asks for more than any response
    /// has. RFC 9111 §5.2.1.3.
    package var minFresh: Int?
    /// How stale a response may be; an invalid one permits nothing. RFC 9111 §5.2.1.2.
    package var maxStale: MaxStale?
    /// How stale a response may be when the origin fails, in seconds; an invalid one permits nothing. RFC 5861 §4.
    package var staleIfError: Int?

    /// The directives of a request without any.
    package static let none = RequestDirectives([:])

    /// Reads the header fields of a request.
    package init(_ fields: HTTPFields) {
        let control = CacheControl(fields)
        // RFC 9111 §5.4: Pragma counts only without Cache-Control.
        let pragma = !fields.contains(.cacheControl) && CacheControl(fields, field: .pragma).contains("no-cache")
        noCache = control.contains("no-cache") || pragma
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.deltaSeconds("max-age").map { $0.value ?? 0 }
        minFresh = control.deltaSeconds("min-fresh").map { $0.value ?? Int.max }
        staleIfError = control.deltaSeconds("stale-if-error")?.value
        maxStale = Self.maxStale(control)
    }

    private static func maxStale(_ control: CacheControl) -> MaxStale? {
        let arguments = control.directives.filter { $0.name == "max-stale" }.map(\.argument)
        guard let first = arguments.first, arguments.allSatisfy({ $0 == first }) else { return nil }
        return switch first {
        case .none: .unlimited
        case .value(let text): DeltaSeconds(text).value.map(MaxStale.seconds)
        case .invalid: nil
        }
    }
}

/// The cache directives of a response, as they apply to a cache with given rules. RFC 9111 §5.2.2, RFC 5861, RFC 9213.
package struct ResponseDirectives: Sendable, Equatable {
    /// The scope of `no-cache` and `private`.
    package enum Scope: Sendable, Equatable {
        /// The whole response.
        case everything
        /// The named fields only: the qualified form (RFC 9111 §5.2.2.4, §5.2.2.7).
        case fields([HTTPField.Name])
    }

    /// The response must not be stored. RFC 9111 §5.2.2.5.
    package var noStore: Bool
    /// The response must not be used without validation. RFC 9111 §5.2.2.4.
    package var noCache: Scope?
    /// The response must not be stored by a shared cache. RFC 9111 §5.2.2.7.
    package var isPrivate: Scope?
    /// The response is explicitly cacheable. RFC 9111 §5.2.2.9.
    var isPublic: Bool
    /// The response must not be used stale. RFC 9111 §5.2.2.2.
    package var mustRevalidate: Bool
    /// The response must not be used stale by a shared cache. RFC 9111 §5.2.2.8.
    var proxyRevalidate: Bool
    /// The response may be stored only by caches that understand its status code; they ignore `no-store`. RFC 9111
    /// §5.2.2.3.
    var mustUnderstand: Bool
    /// Freshness lifetime. RFC 9111 §5.2.2.1.
    package var maxAge: DeltaSeconds?
    /// Freshness lifetime for shared caches; includes `proxy-revalidate`. RFC 9111 §5.2.2.10.
    var sharedMaxAge: DeltaSeconds?
    /// Seconds for which a stale response may be used while it is being validated; an invalid value permits nothing.
    /// RFC 5861 §3.
    var staleWhileRevalidate: Int?
    /// Seconds for which a stale response may be used when the origin fails; an invalid value permits nothing. RFC
    /// 5861 §4.
    package var staleIfError: Int?
    /// Whether a targeted field applies, so that `Cache-Control` and `Expires` are ignored. RFC 9213 §2.2.
    package var isTargeted: Bool

    /// Reads the header fields of a response.
    /// - Parameters:
    ///   - fields: the fields, all lines.
    ///   - policy: rules of the cache: its targeted fields and the directives it ignores.
    package init(_ fields: HTTPFields, policy: CachingRules) {
        let targeted = TargetedCacheControl.first(of: policy.targetedFields, in: fields)
        isTargeted = targeted != nil
        var control = targeted ?? CacheControl(fields)
        if !policy.ignoredDirectives.isEmpty {
            control.directives.removeAll { policy.ignoredDirectives.contains($0.name) }
        }
        noStore = control.contains("no-store")
        noCache = Self.scope("no-cache", in: control)
        isPrivate = Self.scope("private", in: control)
        isPublic = control.contains("public")
        mustRevalidate = control.contains("must-revalidate")
        proxyRevalidate = control.contains("proxy-revalidate")
        mustUnderstand = control.contains("must-understand")
        maxAge = control.deltaSeconds("max-age")
        sharedMaxAge = control.deltaSeconds("s-maxage")
        staleWhileRevalidate = control.deltaSeconds("stale-while-revalidate")?.value
        staleIfError = control.deltaSeconds("stale-if-error")?.value
    }

    /// Returns the fields that must not be stored, or not be used without validation, by a shared or private cache.
    func restrictedFields(shared: Bool) -> [HTTPField.Name] {
        var names: [HTTPField.Name] = []
        if case .fields(let listed) = noCache { names += listed }
        if shared, case .fields(let listed) = isPrivate { names += listed }
        return names
    }

    /// Returns whether the response may never be used stale: an explicit directive overrides every permission. RFC
    /// 9111 §4.2.4.
    func forbidsStale(shared: Bool) -> Bool {
        mustRevalidate || noCache == .everything || (shared && (proxyRevalidate || sharedMaxAge != nil))
    }

    /// Returns the widest scope: one unqualified occurrence, or one whose field list cannot be read, covers the whole
    /// response.
    private static func scope(_ name: String, in control: CacheControl) -> Scope? {
        var listed: [HTTPField.Name] = []
        var isPresent = false
        for directive in control.directives where directive.name == name {
            guard case .value(let text) = directive.argument else { return .everything }
            let members = FieldList.members(of: text)
            let names = members.compactMap { HTTPField.Name(String($0)) }
            guard !names.isEmpty, names.count == members.count else { return .everything }
            listed += names
            isPresent = true
        }
        return isPresent ? .fields(listed) : nil
    }
}

/// Cache directives for one class of caches, such as `CDN-Cache-Control`. RFC 9213.
enum TargetedCacheControl {
    /// Directives that take a whole number of seconds.
    private static let counted: Set<String> = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]

    /// Returns the directives of the first field on the target list that is present, valid and not empty. RFC 9213
    /// §2.2.
    static func first(of targets: [HTTPField.Name], in fields: HTTPFields) -> CacheControl? {
        for target in targets {
            let lines = fields[values: target]
            if !lines.isEmpty, let control = parse(lines.joined(separator: ", ")) { return control }
        }
        return nil
    }

    /// Reads the field, which is a dictionary: it is ignored if it is empty or malformed, or if a count is not an
    /// integer. RFC 9213 §2.1.
    static func parse(_ text: String) -> CacheControl? {
        guard let dictionary = StructuredDictionary(text), !dictionary.members.isEmpty else { return nil }
        var control = CacheControl()
        for (name, value) in dictionary.members {
            switch value {
            case .integer(let number) where counted.contains(name):
                control.directives.append(.init(name: name, argument: number < 0 ? .invalid : .value(String(number))))
            case _ where counted.contains(name): return nil
            case .boolean(false): continue
            case .boolean(true): control.directives.append(.init(name: name))
            case .string(let text), .token(let text):
                control.directives.append(.init(name: name, argument: .value(text)))
            case .integer(let number): control.directives.append(.init(name: name, argument: .value(String(number))))
            case .other: control.directives.append(.init(name: name, argument: .invalid))
            }
        }
        return control
    }
}
