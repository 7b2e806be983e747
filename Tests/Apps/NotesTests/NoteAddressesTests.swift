import Foundation
import HTTPTypes
import Screens
import TestKit
import Testing
import Upstream

@testable import Notes

@Suite("Addresses of positions")
struct NoteAddressesTests {
    private static let moscow = #"{"lat":55.75581,"lon":37.61733}"#

    @Test("NOTE-10 A note without a name of its place gets the nearest known city with its distance")
    func nearestCity() async throws {
        try await NotesHarness.run { app in
            let token = try await app.register()
            for (location, name) in [
                (Self.moscow, "1 km from Moscow, Russia"),
                (#"{"lat":55.75581,"lon":37.61733,"name":"  "}"#, "1 km from Moscow, Russia"),
                (#"{"lat":55.75581,"lon":37.61733,"name":"Here"}"#, "Here"),
            ] {
                let note = try await app.add("a", location, as: token)
                let read = try await app.get("/v1/notes/\(note)", as: token)
                #expect(read["data.location.name"] == .string(name))
            }
            let moved = try await app.add("b", as: token)
            let changed = try await app.ask(.patch, "/v1/notes/\(moved)", as: token, #"{"location":\#(Self.moscow)}"#)
            #expect(changed["data.location.name"] == "1 km from Moscow, Russia")
        }
    }

    @Test("NOTE-10 With a geocoder the address is the one that it knows; its failure is no error")
    func geocoder() async throws {
        let script: ScriptedTransport.Step = { (_) throws(UpstreamError) in
            .json(
                """
                {"features":[{"geometry":{"coordinates":[37.6,55.7]},
                  "properties":{"street":"Tverskaya","housenumber":"1","city":"Moscow","country":"Russia"}}]}
                """
            )
        }
        try await NotesHarness.run(geocoder: script) { app in
            let token = try await app.register()
            let first = try await app.get("/v1/notes/\(try await app.add("a", Self.moscow, as: token))", as: token)
            #expect(first["data.location.name"] == "Tverskaya 1, Moscow, Russia")
            let url = "https://geocoder.test/reverse?lon=37.6173&lat=55.7558&limit=1"
            #expect(app.geocoder.requests.map(\.url) == [url])
            app.geocoder.goAway()
            let elsewhere = #"{"lat":48.8566,"lon":2.3522}"#
            let second = try await app.get("/v1/notes/\(try await app.add("b", elsewhere, as: token))", as: token)
            #expect(second["data.location.name"] == "1 km from Paris, France")
        }
    }

    @Test("NOTE-10 Without notes the user's place on the map has an address")
    func user() async throws {
        try await NotesHarness.run { app in
            let token = try await app.register()
            let map = try await app.get("/v1/notes/map?lat=55.75581&lon=37.61733", as: token)
            #expect(map["data.center.name"] == "1 km from Moscow, Russia" && map["data.center.reason"] == "user")
            #expect(try await app.get("/v1/notes/map", as: token)["data.center.name"] == "Unknown location")
            try await app.add("a", #"{"lat":1,"lon":2,"name":"Here"}"#, as: token)
            let latest = try await app.get("/v1/notes/map?lat=55.75581&lon=37.61733", as: token)
            #expect(latest["data.center.name"] == "Here")
        }
    }
}
