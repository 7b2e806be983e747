import HTTPTypes

extension ScreenResponse {
    /// Returns the response with the cookie of the session that it opens, if a cookie carries it.
    package func granting(
        _ grant: SessionGrant,
        of app: String,
        _ lifetime: SessionGrant.Lifetime,
        _ request: ScreenRequest
    ) -> ScreenResponse {
        guard grant.carrier == .cookie else { return self }
        switch lifetime {
        case .untilBrowserCloses: return settingCookie(app, grant.token, age: nil, request)
        case .lasting: return settingCookie(app, grant.token, age: SessionCookies.longestAge, request)
        }
    }

    /// Returns the response to a request that has ended its own session: a browser forgets the cookie, and what it
    /// has cached of the account.
    package func endingSession(of app: String, _ request: ScreenRequest) -> ScreenResponse {
        guard request.credentials.carrier(for: app) == .cookie else { return self }
        var response = settingCookie(app, "", age: 0, request)
        response.headerFields[.clearSiteData] = #""cache""#
        return response
    }

    /// Returns the response with a cookie of this server that only requests of its own pages carry.
    package func settingCookie(_ name: String, _ value: String, age: Int?, _ request: ScreenRequest) -> ScreenResponse {
        settingCookie(name, value, age: age, path: "/v1", request)
    }

    /// The same, with the beginning of the paths that the cookie is sent to.
    func settingCookie(_ name: String, _ value: String, age: Int?, path: String, _ request: ScreenRequest)
        -> ScreenResponse
    {
        var response = self
        response.headerFields.append(request.setCookie(name, value, age: age, path: path))
        return response
    }
}
