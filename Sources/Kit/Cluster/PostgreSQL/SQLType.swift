/// A type of PostgreSQL, by its number in `pg_type`. These numbers are the same in every database.
package struct SQLType: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    static let boolean = SQLType(rawValue: 16)
    static let bytes = SQLType(rawValue: 17)
    static let name = SQLType(rawValue: 19)
    static let int8 = SQLType(rawValue: 20)
    static let int2 = SQLType(rawValue: 21)
    static let int4 = SQLType(rawValue: 23)
    static let text = SQLType(rawValue: 25)
    static let float8 = SQLType(rawValue: 701)
    static let varchar = SQLType(rawValue: 1043)
    static let texts = SQLType(rawValue: 1009)
    static let int8s = SQLType(rawValue: 1016)
}
