import Foundation
import Screens
import Testing

@Suite struct QueryItemsTimeZoneTests {
    @Test(
        "tz takes IANA names, and is optional",
        arguments: ["Europe/Paris", "America/Argentina/Ushuaia", "UTC", "GMT"]
    )
    func names(name: String) throws {
        #expect(try QueryItems("tz=\(name)").timeZone()?.identifier == (name == "UTC" ? "GMT" : name))
        #expect(try QueryItems("limit=1").timeZone() == nil)
    }

    @Test(
        "tz refuses abbreviations, names that do not exist, and everything that is not a name",
        arguments: ["PST", "EDT", "Mars/Base", "../../etc/passwd", "Europe/", "%00", "", "a/b/c/d"]
    )
    func others(name: String) {
        #expect(throws: Problem.self) { try QueryItems("tz=\(name)").timeZone() }
    }
}
