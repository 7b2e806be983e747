import Foundation
import HTTP
import HTTPTypes
import TestKit
import Testing

@testable import Screens

struct TextTests {
    private let text = Text("Try again", ru: "Повторить")

    @Test(
        "ONE-10 a number is written as its language does, rounded to its decimals",
        arguments: [
            (0, "0", "0"), (1234567.5, "1,234,567.5", "1\u{A0}234\u{A0}567,5"), (113.6801, "113.68", "113,68"),
            (-1000, "-1,000", "-1\u{A0}000"), (999, "999", "999"), (0.005, "0.01", "0,01"),
        ] as [(Decimal, String, String)]
    )
    func numbers(value: Decimal, english: String, russian: String) {
        #expect(Text.number(value) == Text(english, ru: russian))
        #expect(Text.number(12, decimals: 2...2) == Text("12.00", ru: "12,00"))
    }

    @Test("HARN-30 A text is written in the language of the response, by both encoders")
    func written() throws {
        let action = Action(id: "a", title: text, method: "GET", href: "/v1")
        for (language, title) in [(Language.english, "Try again"), (.russian, "Повторить")] {
            try Language.$current.withValue(language) {
                let (own, foundation) = (try WireFormat.encode(action), try JSONEncoder.wire.text(action))
                #expect(String(decoding: own, as: UTF8.self).contains(#""title":"\#(title)""#))
                #expect(foundation.contains(#""title":"\#(title)""#))
            }
        }
    }

    @Test("HARN-30 Texts are put together in all languages")
    func composed() {
        let sum: Text = "a \(text) \(7)!"
        #expect(sum.english == "a Try again 7!" && sum.russian == "a Повторить 7!" && sum.isTranslated)
        let plain: Text = "GET \(7)"
        #expect(plain.english == "GET 7" && plain.russian == "GET 7" && !plain.isTranslated)
        let list = [text, plain].joined(separator: ", ")
        #expect(list[.english] == "Try again, GET 7" && list[.russian] == "Повторить, GET 7" && list.isTranslated)
        #expect(![plain, plain].joined(separator: " ").isTranslated && [Text]().joined(separator: " ") == "")
    }

    @Test("HARN-30 What only authors of clients can act on is shown to users by the title of its code")
    func problems() throws {
        let own = Problem(.malformedJSON, "The body is not valid JSON: line 1, column 2.")
        #expect(own.message.english == "The body is not JSON.")
        #expect(own.message.russian == "Тело запроса — не JSON.")
        let stored = Problem(.storageFull, .diskFull)
        #expect(stored.message == .diskFull)
        let price = Problem.invalidParameter("price", accepted: Text("accepts a number", ru: "принимает число"))
        #expect(price.detail == Text("Parameter price: accepts a number.", ru: "Параметр price: принимает число."))
        #expect(Problem.invalidParameter("cursor", accepted: "is of another list").detail.isTranslated == false)
    }

    @Test("HARN-30 Every code has a title in both languages")
    func titles() {
        for code in ProblemCode.common {
            let isRussian = code.title.russian.unicodeScalars.contains { (0x400...0x4FF).contains($0.value) }
            #expect(code.title.isTranslated && isRussian, "\(code.rawValue)")
        }
    }
}

@Suite("The language of a response") struct LanguageTests {
    @Test("HARN-30 Accept-Language decides; without it the original app's language; the response says which")
    func negotiated() async throws {
        let harness = try ScreenHarness([
            Route(.get, "/v1/x", "x.x") { request in
                try .local(["title": Text("Try again", ru: "Повторить")], "x.x", request)
            },
            Route(.get, "/v1/x/wrong", "x.wrong") { _ in throw Problem(.storageFull, .diskFull) },
        ])
        for (accepted, language, title) in [
            ("ru-RU, en;q=0.5", "ru", "Повторить"), ("en", "en", "Try again"), ("de", "en", "Try again"),
        ] {
            let fields: HTTPFields = [.acceptLanguage: accepted]
            let screen = try await harness.serve(.get, "/v1/x", fields)
            #expect(screen.text.contains(title) && screen.fields[.contentLanguage] == language)
            #expect(screen.fields[.vary]?.contains("Accept-Language") == true)
            let problem = try await harness.serve(.get, "/v1/x/wrong", fields)
            #expect(problem.fields[.contentLanguage] == language)
            #expect(problem.fields[.vary]?.hasPrefix("Accept-Language") == true)
            #expect(problem.text.contains("На диске сервера нет места") == (language == "ru"))
        }
    }
}

@Suite("Forms of screens")
struct ScreenFormTests {
    private struct Harbour: App {
        static let name = "harbour"
        static let title = Text("Harbour", ru: "Гавань")
        static let screens = [
            ScreenForm(
                "harbour.list",
                Text("Berths", ru: "Причалы"),
                tab: "/v1/harbour",
                search: "/v1/harbour",
                [.name("name")]
            ),
            ScreenForm("harbour.map", Text("Chart", ru: "Карта"), tab: "/v1/harbour/map"),
            ScreenForm("harbour.berth", Text("Berth", ru: "Причал"), [ScreenForm.Label("depth_text", "Depth")]),
        ]

        init(_ context: AppContext) throws {}
        static var routes: [AppRoute<Self>] { [] }
    }

    private struct Berth: Encodable, TitledScreen {
        let name: String
        var screenTitle: Text? { Text(verbatim: name) }
    }

    private func completed(_ data: some Encodable & Sendable, _ screen: String) -> (meta: Meta, links: Links) {
        var forms = ScreenForms()
        forms.add(Harbour.self)
        var envelope = Envelope(data: data, meta: Meta(screen: screen, provenance: .local), links: Links(self: "/v1"))
        forms.complete(&envelope)
        return (envelope.meta, envelope.links)
    }

    @Test("ONE-05 A main screen has its title, the main screens of its app, and its search")
    func main() {
        let (meta, links) = completed("", "harbour.list")
        #expect(meta.title[.russian] == "Причалы" && meta.labels.map(\.member) == ["name"])
        #expect(links.tabs?.map(\.screen) == ["harbour.list", "harbour.map"])
        #expect(links.search?.method == "GET" && links.search?.fields?.map(\.name) == ["q"])
    }

    @Test("ONE-05 A screen of one thing has the name of the thing as title, and no tabs")
    func thing() {
        let (meta, links) = completed(Berth(name: "Pier 7"), "harbour.berth")
        #expect(meta.title == Text(verbatim: "Pier 7") && links.tabs == nil && links.search == nil)
        #expect(meta.labels.first?.title == "Depth")
    }

    @Test("ONE-05 A screen without a form has the title of its app, or its own name")
    func unknown() {
        #expect(completed("", "harbour.log").meta.title == Harbour.title)
        #expect(completed("", "port.log").meta.title == "port.log")
    }
}
